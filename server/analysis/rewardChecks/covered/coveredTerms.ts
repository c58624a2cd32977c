/** Functions of one's own with marks: what their calls reach. Each has a process of its own, apart from those that train. */
import { resolve } from "node:path";
import type { RewardTermConfig } from "../../../core/config/resolved.ts";
import { PythonReward } from "../../../methods/reward/own/python/pythonReward.ts";
import type { CoveredReward } from "../../../methods/reward/own/reached.ts";
import { UserReward } from "../../../methods/reward/own/userReward.ts";
import { pythonOptions } from "../../rescore/pythonTerm.ts";
import { keyOf } from "../../rescore/terms.ts";
import { userParams } from "../../rescore/userTerm.ts";

export interface CoveredOptions {
  /** Seconds for one rollout where the term does not say. */
  readonly timeout: number;
  /** Texts of files that are open in an editor, by their paths. */
  readonly unsaved?: Readonly<Record<string, string>>;
  /** The Python that a run was started with. */
  readonly python?: string | undefined;
}

export class CoveredTerms {
  private readonly rewards = new Map<string, CoveredReward>();

  constructor(private readonly options: CoveredOptions) {}

  /** undefined: the term is no function of one's own. */
  of(config: RewardTermConfig): CoveredReward | undefined {
    const key = keyOf(config, "");
    const reward = this.rewards.get(key) ?? this.made(config);
    if (reward !== undefined) this.rewards.set(key, reward);
    return reward;
  }

  async close(): Promise<void> {
    await Promise.all([...this.rewards.values()].map((reward) => reward.close()));
  }

  private made({ name, term }: RewardTermConfig): CoveredReward | undefined {
    const { timeout, unsaved = {}, python } = this.options;
    const method = term.declaration.name;
    if (method === "python") {
      const options = pythonOptions(term, name, timeout, python);
      const reward = new PythonReward(options);
      reward.cover(unsaved[options.file]);
      return reward;
    }
    if (method !== "user") return undefined;
    const { args = {}, timeout: own = timeout, ...params } = userParams.parse(term.params);
    const file = resolve(term.folder, params.file);
    const reward = new UserReward({ ...params, file, term: name, args, timeout: own });
    reward.cover(unsaved[file]);
    return reward;
  }
}
