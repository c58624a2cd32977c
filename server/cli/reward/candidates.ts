/** `--candidate REWARD`: rewards that are tried next to those of a config, as terms of weight 0. */
import { isAbsolute, resolve } from "node:path";

/** A method's name, or a file's with its function. */
const isFile = (reward: string): boolean => /[./\\]/.test(reward);

/** @param folder that relative paths start from @returns what `--set` takes */
export function candidateSetting(reward: string, folder: string): string {
  const use = isFile(reward) && !isAbsolute(reward) ? resolve(folder, reward) : reward;
  return `reward.terms."${nameOf(reward)}"=${JSON.stringify({ use, weight: 0 })}`;
}

/** As it was typed: no term of a config is called by a path. A method's name may be a term's. */
export const nameOf = (reward: string): string => (isFile(reward) ? reward : `candidate ${reward}`);
