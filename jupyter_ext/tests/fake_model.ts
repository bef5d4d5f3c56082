// A widget's model as anywidget gives it, with the test in the place of the kernel.

export class FakeModel {
  readonly sent: { kind: string; id: string }[] = [];
  readonly listeners = new Map<string, (...values: never[]) => void>();
  readonly #view: unknown;

  constructor(view: unknown) {
    this.#view = view;
  }

  get() {
    return this.#view;
  }

  on(event: string, listener: (...values: never[]) => void) {
    this.listeners.set(event, listener);
  }

  off(event: string) {
    this.listeners.delete(event);
  }

  send(content: unknown) {
    this.sent.push(content as { kind: string; id: string });
  }

  reply(content: unknown) {
    this.listeners.get("msg:custom")?.(content as never);
  }
}
