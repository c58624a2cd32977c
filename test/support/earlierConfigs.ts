/** What the runs of test/fixtures/earlierStore train: small ones whose checkpoints hold what a run can remember. */
import { configs } from "../../bench/kills/configs.ts";

/** Pays nothing and takes its time, so that a run can be stopped or killed in the midst of it. */
export const slow = {
  set: "reward.terms.slow={ use: ./slow.ts, weight: 0 }",
  file: "slow.ts",
  text: `export async function score(): Promise<number> {
  await new Promise((done) => setTimeout(done, 40));
  return 0;
}
`,
} as const;

export interface EarlierConfig {
  readonly name: string;
  readonly text: string;
  readonly files?: Readonly<Record<string, string>>;
  /** The second run of it ends after this step. */
  readonly at: number;
  readonly how: "stop" | "kill";
}

const smaller = (text: string): string =>
  text
    .replaceAll(/width: \d+/g, "width: 8")
    .replaceAll(/hidden: \d+/g, "hidden: 8")
    .replaceAll("context: 48", "context: 32")
    .replaceAll("prompts: 4, group: 4", "prompts: 2, group: 2")
    .replace("keep: 3", "keep: 1")
    .replace("max_tokens: 8", "max_tokens: 5")
    .replace("prompts: 8, pass_at", "prompts: 1, pass_at")
    .replace("warm-up, kind: sft, steps: 10", "warm-up, kind: sft, steps: 3")
    .replace("warm-up, kind: sft, steps: 9", "warm-up, kind: sft, steps: 3")
    .replace("steps: 50", "steps: 9")
    .replaceAll("steps: 12, on_enter", "steps: 3, on_enter")
    .replace("steps: 12, curriculum", "steps: 3, curriculum")
    .replace("steps: 20, alternate", "steps: 4, alternate");

const chosen = configs.filter(({ name }) => name !== "reward-model");
export const earlierConfigs: readonly EarlierConfig[] = chosen.map(({ name, text, ...rest }, i) => ({
  ...rest,
  name,
  text: `name: ${name}\n${smaller(text)}`,
  at: 5,
  how: i % 2 === 0 ? "kill" : "stop",
}));
