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

/** By path in the folder. @param problems how many errors a config's text has: the smallest context with the fewest is taken */
export function files(
  preset: string,
  problems: (text: string) => number = () => 0,
): Readonly<Record<string, string>> {
  const choices = new Choices(preset, presetBodies(preset));
  const texts = contexts.map((context) => configText(choices, context));
  const counts = choices.has("model.context") ? [0] : texts.map(problems);
  const text = texts[counts.indexOf(Math.min(...counts))]!;
  return {
    [choices.ownWorld ? `${preset}.gradus.yaml` : configName]: text,
    ...(choices.rewardsOwn ? {} : { [rewardName]: reward, [testName]: test }),
  };
}

/** Tokens: of countdown, of its prompts with words around them, of episodes in a world. */
const contexts = [48, 512, 4096];
