import { basename } from "node:path";
import { verlRule } from "../rule.ts";
import type { RuleModel } from "../../../rules/rule.ts";

/** Read by `main_ppo` and `validate_config` before anything trains. */
const needed = [
  "trainer.nnodes",
  "trainer.n_gpus_per_node",
  "data.train_files",
  "data.train_batch_size",
  "algorithm.adv_estimator",
  "actor_rollout_ref.model.path",
  "actor_rollout_ref.actor.strategy",
  "actor_rollout_ref.rollout.name",
];

const command = /^\s*#.*\bmain_ppo\b.*--config-name(?:=|\s+)['"]?([\w./-]+)/m;

/** A file that Hydra starts from: it sets Hydra up, a comment starts verl with it, or it is one of verl's own. */
function isPrimary({ document: { file, text } }: RuleModel): boolean {
  const named = command.exec(text)?.[1];
  const isNamed = named !== undefined && basename(named, ".yaml") === basename(file).replace(/\.ya?ml$/, "");
  return isNamed || /^hydra:/m.test(text) || /(^|[\\/])verl[\\/]trainer[\\/]config[\\/][^\\/]+$/.test(file);
}

export const defaults = verlRule({
  id: "verl-defaults",
  title: "Primary config without `defaults`",
  why: "Hydra composes what `defaults` lists and nothing else: verl's primary configs (verl/trainer/config/ppo_trainer.yaml) list the parts of its tree, and your own config lists `ppo_trainer` and `_self_`. Without `defaults` the config is this file alone, and `main_ppo` and `validate_config` (verl/utils/config.py) fail at the first missing key.",
  check(model) {
    const { form, text, broken } = model.document;
    if (form !== "yaml" || broken !== undefined || /^["']?defaults["']?\s*:/m.test(text) || !isPrimary(model))
      return [];
    const missing = needed.filter((key) => model.written(key) === undefined && !model.document.base.has(key));
    if (missing.length === 0) return [];
    const message = `This file has no \`defaults\`, so it inherits nothing of verl's tree and \`${missing[0]!}\` is missing: begin it with \`defaults: [ppo_trainer, _self_]\`.`;
    return [{ at: undefined, message }];
  },
});
