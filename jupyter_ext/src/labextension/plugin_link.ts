// The way from the status bar to a kernel: which plugin is in use there, and another one, please.

/** Both sides know the comm by this name. */
export const TARGET = "kernel_magics.plugins";

export interface PluginsInUse {
  active: string;
  loaded: string[];
  /** Why the last switch was refused; empty where it was not. */
  problem: string;
}

interface Comm {
  onMsg: (message: { content: { data: unknown } }) => void;
  onClose: (message: unknown) => void;
  send(data: unknown): unknown;
}

export interface Kernel {
  registerCommTarget(
    name: string,
    opened: (comm: Comm, message: { content: { data: unknown } }) => void,
  ): void;
  removeCommTarget(name: string, opened: unknown): void;
  requestCommInfo(content: {
    target_name: string;
  }): Promise<{ content: { comms?: Record<string, unknown> } }>;
  createComm(name: string, id: string): Comm;
}

export class PluginLink {
  state: PluginsInUse | null = null;
  readonly #changed: () => void;
  #comm: Comm | null = null;

  /** Waits for the kernel to open the comm, and takes one up that it opened for another page. */
  constructor(kernel: Kernel, changed: () => void) {
    this.#changed = changed;
    kernel.registerCommTarget(TARGET, (comm, message) => {
      this.#take(comm);
      this.#told(message.content.data);
    });
    void this.#takeUp(kernel);
  }

  use(name: string): void {
    this.#comm?.send({ use: name });
  }

  async #takeUp(kernel: Kernel): Promise<void> {
    const { content } = await kernel.requestCommInfo({ target_name: TARGET });
    const [id] = Object.keys(content.comms ?? {});
    if (id === undefined || this.#comm) return;
    const comm = kernel.createComm(TARGET, id);
    this.#take(comm);
    comm.send({});
  }

  #take(comm: Comm): void {
    this.#comm = comm;
    comm.onMsg = (message) => this.#told(message.content.data);
    comm.onClose = () => {
      this.#comm = null;
      this.state = null;
      this.#changed();
    };
  }

  #told(data: unknown): void {
    if (!isState(data)) return;
    this.state = data;
    this.#changed();
  }
}

function isState(data: unknown): data is PluginsInUse {
  const state = data as PluginsInUse | null;
  return typeof state?.active === "string" && Array.isArray(state.loaded);
}
