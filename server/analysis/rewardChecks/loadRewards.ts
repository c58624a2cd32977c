/**
 * Whether the Python rewards of a config load: what a run would find out at its start, and keep as a failed run. Files of
 * TypeScript are parsed by the rule `reward-file`.
 */
import type { RewardTermConfig } from "../../core/config/resolved.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import { PythonReward } from "../../methods/reward/own/python/pythonReward.ts";
import { pythonOptions } from "../rescore/pythonTerm.ts";

/** @throws UserError that names the file, and the line where its error has one */
export async function loadRewards({ stages, top }: RunConfig): Promise<void> {
  const terms = new Map<string, RewardTermConfig>();
  for (const { kind, body } of stages)
    if (kind === "rl")
      for (const term of body.reward.terms.filter(
        ({ term: { declaration } }) => declaration.name === "python",
      ))
        terms.set(JSON.stringify([term.term.folder, term.term.params]), term);
  await Promise.all([...terms.values()].map((term) => load(term, top.reward.timeout)));
}

async function load({ name, term }: RewardTermConfig, seconds: number): Promise<void> {
  const reward = new PythonReward(pythonOptions(term, name, seconds, undefined));
  try {
    await reward.prepare();
  } finally {
    await reward.close();
  }
}
