// Asks a kernel which of a notebook's saved views show what it holds, so that they live again.
import type { SessionContext, Signal } from "@jupyterlab/notebook";

const TARGET = "kernel-magics.view";
/** A kernel that never loads the extension is not asked for ever: each question is logged there. */
const MOST_UNANSWERED = 8;

interface Comm {
  open(data: { digests: string[] }): unknown;
  onMsg: (message: { content: { data: { models?: unknown } } }) => void;
  onClose: (message: unknown) => void;
}

interface IopubMessage {
  readonly header: { readonly msg_type: string };
}

/** A notebook's session, with what JupyterLab's own type says of it besides. */
interface Session extends SessionContext {
  readonly session: { readonly kernel: { createComm(target: string): Comm } | null } | null;
  readonly iopubMessage: Signal<IopubMessage>;
}

type Found = (model: string) => void;

/** One for each notebook: all its views ask in one message, after a cell has run. */
export class KnownModules {
  static readonly #all = new WeakMap<SessionContext, KnownModules>();
  readonly #session: Session;
  readonly #waiting = new Map<Found, string>();
  #asking: Comm | null = null;
  #hasRun = true;
  #unanswered = 0;

  static of(session: SessionContext): KnownModules {
    const known = KnownModules.#all.get(session) ?? new KnownModules(session as Session);
    KnownModules.#all.set(session, known);
    return known;
  }

  private constructor(session: Session) {
    this.#session = session;
    session.kernelChanged.connect(this.#renew);
    session.iopubMessage.connect(this.#listen);
    session.statusChanged.connect(this.#askWhenIdle);
  }

  /** Calls back once, when the kernel holds the module; returns what ends the waiting. */
  wait(digest: string, found: Found): () => void {
    this.#waiting.set(found, digest);
    return () => this.#waiting.delete(found);
  }

  readonly #renew = () => {
    this.#asking = null;
    this.#unanswered = 0;
    this.#hasRun = true;
  };

  // What a comm does makes a kernel busy, too: only a cell that ran can have changed something.
  readonly #listen = (_: unknown, message: IopubMessage) => {
    if (message.header.msg_type === "execute_input") this.#hasRun = true;
  };

  readonly #askWhenIdle = (_: unknown, status: string) => {
    if (status !== "idle" || !this.#hasRun || this.#waiting.size === 0) return;
    const kernel = this.#session.session?.kernel;
    if (!kernel || this.#asking || this.#unanswered > MOST_UNANSWERED) return;
    this.#hasRun = false;
    this.#unanswered++;
    const comm = kernel.createComm(TARGET);
    this.#asking = comm;
    comm.onMsg = ({ content }) => {
      this.#unanswered = 0;
      this.#tell(content.data.models);
    };
    comm.onClose = () => {
      this.#asking = null;
    };
    comm.open({ digests: [...new Set(this.#waiting.values())] });
  };

  #tell(models: unknown): void {
    if (typeof models !== "object" || models === null) return;
    const known = new Map<string, unknown>(Object.entries(models));
    for (const [found, digest] of [...this.#waiting]) {
      const model = known.get(digest);
      if (typeof model !== "string") continue;
      this.#waiting.delete(found);
      found(model);
    }
  }
}
