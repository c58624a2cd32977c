/** A prompt with its answer and environment. */
import type { JsonObject } from "../../shared/lib/json.ts";

/** A prompt with its answer and environment. */
export interface Task {
  /** Canonical and stable: equal tasks have equal ids, whatever their place in the data. Splits hash it. */
  readonly id: string;
  /** The task source's name in the config. */
  readonly source: string;
  readonly env: string;
  readonly prompt: string;
  /** How the response begins: given to the model, never written by it. */
  readonly begin?: string;
  /** Reference answer, where there is one. */
  readonly answer?: string;
  /** What the environment's verifier, templates and reward functions read. */
  readonly data: JsonObject;
  /** A written solution in the response's own format, for supervised warm-up and guidance. */
  readonly solution?: string;
  /** Two answers of which the first is the better, for preferences. */
  readonly pair?: { readonly chosen: string; readonly rejected: string };
}

/** What the user's own environments and tools are given of a task. */
export const taskJson = ({ id, source, env, prompt, answer, data }: Task): JsonObject => ({
  id,
  source,
  env,
  prompt,
  ...(answer === undefined ? {} : { answer }),
  data,
});
