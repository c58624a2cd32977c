/** Calls that are kept by session, with the tokens and log-probs that they were written with. */
import { z } from "zod";
import type { Finish } from "../core/basics.ts";
import { Refusal } from "./errors.ts";

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

/** What whoever plays a session sets for its calls. */
export const rulesSchema = z.strictObject({
  /** Fields that a request may leave out. `seed` is another one for each call. */
  defaults: z.record(z.string(), z.json()).default({}),
  /** Most calls; later ones are refused. */
  calls: z.int().min(1).optional(),
});
export type SessionRules = z.output<typeof rulesSchema>;

interface Session {
  readonly rules: SessionRules;
  calls: number;
  ended: boolean;
  captured: Captured[];
}

/** Apart by more than calls are: seeds of one session's calls, and of the next session's. */
const SEED_STEP = 1_000_003;

/** In memory, until they are forgotten. */
export class Sessions {
  private readonly kept = new Map<string, Session>();

  /** Begins a session, or begins it again. */
  set(session: string, rules: SessionRules): void {
    this.kept.set(session, { rules, calls: 0, ended: false, captured: [] });
  }
  /** The number of a call that begins now. @throws Refusal where there may be no more of them */
  begin(session: string): number {
    if (!this.kept.has(session)) this.set(session, { defaults: {} });
    const own = this.kept.get(session)!;
    if (own.ended)
      throw new Refusal(
        410,
        "session_ended",
        `The session ${session} has ended. End the program that still calls.`,
      );
    if (own.rules.calls !== undefined && own.calls >= own.rules.calls)
      throw new Refusal(
        429,
        "session_calls",
        `The session ${session} has made its ${own.rules.calls} calls. Allow more by \`rollout.calls\`, or end the episode earlier.`,
      );
    return own.calls++;
  }
  /** What a session's next call says where it says nothing itself. */
  defaults(session: string): SessionRules["defaults"] {
    const own = this.kept.get(session);
    if (own === undefined) return {};
    const { seed, ...rest } = own.rules.defaults;
    return typeof seed === "number" ? { ...rest, seed: (seed + own.calls * SEED_STEP) % 2 ** 31 } : rest;
  }
  /** What finished after its session was forgotten is forgotten with it. */
  add(session: string, choices: readonly Captured[]): void {
    const own = this.kept.get(session);
    if (own?.ended === false) own.captured.push(...choices);
  }
  /** In the order in which they were asked; undefined where there is no such session. */
  captured(session: string): readonly Captured[] | undefined {
    const own = this.kept.get(session);
    return own && [...own.captured].sort((a, b) => a.call - b.call || a.choice - b.choice);
  }
  /** Its calls, which are kept no longer; those that still come are refused. */
  end(session: string): readonly Captured[] | undefined {
    const captured = this.captured(session);
    const own = this.kept.get(session);
    if (own !== undefined) Object.assign(own, { ended: true, captured: [] });
    return captured;
  }
  forget(session: string): boolean {
    return this.kept.delete(session);
  }
}
