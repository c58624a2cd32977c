/** Calls that are kept by session, with the tokens and log-probs that they were written with. */
import type { Finish } from "../core/basics.ts";

/** One choice of one call, as `GET /sessions/<name>/captured` gives it. */
export interface Captured {
  /** The call's place in its session; choices of one call share it. */
  readonly call: number;
  readonly choice: number;
  readonly api: "chat" | "completions" | "messages";
  readonly at: string;
  /** As they were asked; of a plain completion the prompt alone. */
  readonly messages?: readonly unknown[];
  readonly tools?: readonly unknown[];
  readonly prompt: string;
  readonly prompt_tokens: readonly number[];
  readonly tokens: readonly number[];
  readonly logp_old: readonly number[];
  readonly logp_sampled: readonly number[];
  readonly entropy: readonly number[];
  readonly versions: readonly number[];
  readonly text: string;
  readonly finish: Finish;
  /** The client left before the end. */
  readonly aborted: boolean;
  readonly temperature: number;
}

/** In memory, until they are forgotten. */
export class Sessions {
  private readonly kept = new Map<string, { calls: number; captured: Captured[] }>();

  /** The number of a call that begins now. */
  begin(session: string): number {
    const own = this.kept.get(session) ?? { calls: 0, captured: [] };
    this.kept.set(session, own);
    return own.calls++;
  }
  /** What finished after its session was forgotten is forgotten with it. */
  add(session: string, choices: readonly Captured[]): void {
    this.kept.get(session)?.captured.push(...choices);
  }
  /** In the order in which they were asked; undefined where there is no such session. */
  captured(session: string): readonly Captured[] | undefined {
    const own = this.kept.get(session);
    return own && [...own.captured].sort((a, b) => a.call - b.call || a.choice - b.choice);
  }
  forget(session: string): boolean {
    return this.kept.delete(session);
  }
  names(): readonly string[] {
    return [...this.kept.keys()];
  }
}
