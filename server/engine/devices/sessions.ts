/**
 * TensorFlow's sessions, one a graph. Models of one architecture (the policy, its reference, a copy of it) run the same
 * programs, and a session costs a tenth of a second or more until it first has run. It holds no values between runs, so
 * that they can share it; and what nobody uses any more stays for the next model.
 */
import { createHash } from "node:crypto";

/** Sessions that nobody uses, at most: those of two models. */
const mostIdle = 32;

export interface SharedSession {
  readonly graph: string;
  readonly id: number;
  users: number;
}

export class Sessions {
  /** By graph, those that were last given back at the end. */
  private readonly kept = new Map<string, SharedSession>();

  /** @param end deletes a session */
  constructor(private readonly end: (id: number) => void) {}

  /** @param make called where no session of this graph is open */
  take(graph: Uint8Array, make: (graph: Uint8Array) => number): SharedSession {
    const key = createHash("sha256").update(graph).digest("base64");
    const session = this.kept.get(key) ?? { graph: key, id: make(graph), users: 0 };
    session.users += 1;
    this.kept.set(key, session);
    return session;
  }

  giveBack(session: SharedSession): void {
    session.users -= 1;
    if (session.users > 0) return;
    this.kept.delete(session.graph);
    this.kept.set(session.graph, session);
    const idle = [...this.kept.values()].filter(({ users }) => users === 0);
    for (const { graph, id } of idle.slice(0, Math.max(0, idle.length - mostIdle))) {
      this.kept.delete(graph);
      this.end(id);
    }
  }
}
