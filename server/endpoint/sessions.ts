/** Calls that are kept by session, with the tokens and log-probs that they were written with. */
import { z } from "zod";
import type { Finish } from "../core/basics.ts";
import { sizeText, usualBounds, type Bounds } from "./bounds.ts";
import { Refusal } from "./errors.ts";
import { formatCount } from "../../shared/lib/format.ts";

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
  /** Of what is captured, with the bodies that asked for it. */
  bytes: number;
}

/** How much is kept at once. */
type Kept = Pick<Bounds, "sessions" | "kept">;
/** Names of forgotten sessions that are remembered, so that asking for one is answered rightly. */
const NAMES = 65_536;

/** Columns have 8 bytes a number; the texts come on top of them. */
const bytesOf = ({ prompt_tokens, tokens, prompt, text }: Captured): number =>
  8 * (prompt_tokens.length + 5 * tokens.length) + prompt.length + text.length;

/** Apart by more than calls are: seeds of one session's calls, and of the next session's. */
const SEED_STEP = 1_000_003;

/** In memory, within bounds: the session that was used least recently is forgotten first. */
export class Sessions {
  /** In the order in which they were last used. */
  private readonly kept = new Map<string, Session>();
  private readonly forgotten = new Set<string>();
  private bytes = 0;

  constructor(private readonly bounds: Kept = usualBounds) {}

  /** Begins a session, or begins it again. @param bytes of the rules */
  set(session: string, rules: SessionRules, bytes = 0): void {
    this.forget(session);
    this.kept.set(session, { rules, calls: 0, ended: false, captured: [], bytes });
    this.bytes += bytes;
    this.bound();
  }
  /** The number of a call that begins now; undefined: the session was forgotten. @throws Refusal where there may be no more of them */
  begin(session: string): number | undefined {
    if (this.forgotten.has(session)) return undefined;
    if (!this.kept.has(session)) this.set(session, { defaults: {} });
    const own = this.used(session)!;
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
  /**
   * What finished after its session was forgotten is forgotten with it.
   * @param body bytes of the call's body: its messages and tools are kept
   */
  add(session: string, choices: readonly Captured[], body = 0): void {
    const own = this.used(session);
    if (own?.ended !== false) return;
    own.captured.push(...choices);
    const more = choices.reduce((sum, choice) => sum + bytesOf(choice), body);
    own.bytes += more;
    this.bytes += more;
    this.bound();
  }
  /** As they came to their ends; none where there is no such session. */
  calls(session: string): readonly Captured[] {
    return this.kept.get(session)?.captured ?? [];
  }
  /** In the order in which they were asked; undefined where there is no such session. @throws Refusal where it was forgotten */
  captured(session: string): readonly Captured[] | undefined {
    if (this.forgotten.has(session)) throw forgottenSession(session, this.bounds);
    const own = this.kept.get(session);
    return own && [...own.captured].sort((a, b) => a.call - b.call || a.choice - b.choice);
  }
  /** Its calls, which are kept no longer; those that still come are refused. @throws Refusal where it was forgotten */
  end(session: string): readonly Captured[] | undefined {
    const captured = this.captured(session);
    const own = this.kept.get(session);
    if (own === undefined) return captured;
    this.bytes -= own.bytes;
    Object.assign(own, { rules: { defaults: {} }, ended: true, captured: [], bytes: 0 });
    return captured;
  }
  forget(session: string): boolean {
    const known = this.forgotten.delete(session);
    this.bytes -= this.kept.get(session)?.bytes ?? 0;
    return this.kept.delete(session) || known;
  }

  private used(session: string): Session | undefined {
    const own = this.kept.get(session);
    if (own === undefined) return undefined;
    this.kept.delete(session);
    this.kept.set(session, own);
    return own;
  }
  private bound(): void {
    while (this.kept.size > this.bounds.sessions || this.bytes > this.bounds.kept) {
      const [oldest] = this.kept.keys();
      if (oldest === undefined) return;
      this.forget(oldest);
      this.forgotten.add(oldest);
      const [first] = this.forgotten;
      if (this.forgotten.size > NAMES && first !== undefined) this.forgotten.delete(first);
    }
  }
}

const forgottenSession = (session: string, { sessions, kept }: Kept): Refusal =>
  new Refusal(
    410,
    "session_forgotten",
    `The calls of the session ${session} are forgotten: the server keeps ${formatCount(sessions)} sessions with ${sizeText(kept)} at most, the latest. Ask for a session's calls when it ends, and forget it by DELETE; then its name may be used again.`,
  );
