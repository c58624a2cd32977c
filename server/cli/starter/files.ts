/**
 * The files that `gradus init` writes: what a preset chooses stays as it is, and the rest is a small run of countdown. What
 * they make of the preset `sec` must learn within about a minute on two cores: tests run it as it is written.
 */
import { presetBodies } from "../../config/presets.ts";
import { Choices } from "./choices.ts";
import { configText } from "./configText.ts";
import { reward, rewardName, test, testName } from "./reward.ts";

export { testName } from "./reward.ts";
export const configName = "countdown.gradus.yaml";

/** What checking a config's text says of it. */
export interface Checked {
  /** Errors. */
  readonly errors: number;
  /** Its policy begins with random weights that nothing teaches. */
  readonly isUntaught: boolean;
}
type Check = (text: string) => Checked;

/** By path in the folder. @param check says which context has the fewest errors, and whether a warm-up is missing */
export function files(
  preset: string,
  check: Check = () => ({ errors: 0, isUntaught: false }),
): Readonly<Record<string, string>> {
  const [choices, text] = written(preset, false, check);
  return {
    [choices.configName]: text,
    ...(choices.rewardsOwn ? {} : { [rewardName]: reward, [testName]: test }),
  };
}

/** The config by itself, with what there is to know of the preset. @param about lines of a comment */
export const configAlone = (preset: string, about: readonly string[], check: Check): string =>
  written(preset, true, check, about)[1];

function written(
  preset: string,
  isAlone: boolean,
  check: Check,
  about?: readonly string[],
): readonly [Choices, string] {
  const bodies = presetBodies(preset);
  const made = (needsWarmUp: boolean): readonly [Choices, string, Checked] => {
    const choices = new Choices(preset, bodies, { isAlone, needsWarmUp });
    const sizes = choices.has("model.context") ? [contexts[0]!] : contexts;
    let best: readonly [Choices, string, Checked] | undefined;
    for (const context of sizes) {
      const text = configText(choices, context, about);
      const checked = check(text);
      if (best === undefined || checked.errors < best[2].errors) best = [choices, text, checked];
      if (checked.errors === 0) break;
    }
    return best!;
  };
  const plain = made(false);
  if (!plain[2].isUntaught) return [plain[0], plain[1]];
  const [choices, text, { errors }] = made(true);
  return errors > plain[2].errors ? [plain[0], plain[1]] : [choices, text];
}

/** Tokens: of countdown, of its prompts with words around them, of episodes in a world. */
const contexts = [48, 512, 4096];
