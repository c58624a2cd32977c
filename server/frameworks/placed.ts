/** Which of several settings somebody wrote: where a finding about all of them is said. */
import type { Setting } from "./document.ts";
import type { FrameworkModel } from "./rule.ts";

export const allWritten = (model: FrameworkModel, ...keys: readonly string[]): Setting[] =>
  keys.flatMap((key) => model.written(key) ?? []);

/** The first that is written, and the others beside it. */
export function placed(
  model: FrameworkModel,
  ...keys: readonly string[]
): { at: Setting | undefined; related: readonly Setting[] } {
  const [at, ...related] = allWritten(model, ...keys);
  return { at, related };
}
