/** The policy as a model server, as a harness needs it. */
import type { CapturedCall } from "./captured.ts";

/** What holds for a session's calls where they ask for nothing else, and how many there may be. */
export interface SessionSettings {
  readonly temperature: number;
  readonly top_p: number;
  readonly top_k: number;
  readonly min_p: number;
  readonly max_tokens: number;
  readonly seed: number;
  readonly calls: number;
}

export interface SessionPlace {
  /** Base URLs of the session. */
  readonly openai: string;
  readonly anthropic: string;
  /** The server itself: a header may name the session, too. */
  readonly url: string;
  readonly token: string;
  readonly model: string;
}

export interface PolicyServer {
  /** Resolves once the weights of this version, or newer ones, answer. @throws UserError where the server has ended */
  serve(version: number): Promise<void>;
  /** Begins a session: its calls are captured. */
  begin(session: string, settings: SessionSettings): Promise<SessionPlace>;
  /** Ends a session: later calls are refused. @returns what was called, in order */
  end(session: string): Promise<readonly CapturedCall[]>;
  close(): Promise<void>;
}
