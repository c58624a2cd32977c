import { compareVersions } from "../../../text/releaseOrder.ts";
import { installedVersion } from "../../../releases/version.ts";
import type { Setting } from "../../../text/document.ts";
import type { RuleModel } from "../../../rules/rule.ts";
import { trainerOf } from "../python.ts";
import { everyTrainer } from "../../../releases/programs/trl.ts";
import { trlRule } from "../trlRule.ts";

export const newerTransformers = trlRule({
  id: "trl-transformers",
  trees: everyTrainer,
  title: "Transformers too old",
  why: "Tools need Transformers 5.0, an `environment_factory` 5.2, and `use_transformers_continuous_batching` 5.8: `GRPOTrainer.__init__` (trl/trainer/grpo_trainer.py) refuses older ones. Gradus reports it if Transformers is installed next to the file.",
  check(model) {
    const { folder } = model.document.version;
    const has = folder === undefined ? undefined : installedVersion(folder, "transformers");
    if (has === undefined) return [];
    return needs(model)
      .filter(({ least }) => compareVersions(has, least) < 0)
      .map(({ at, least }) => ({
        at,
        message: `\`${at.key}\` needs Transformers ${least} or newer, but ${has} is installed: run \`pip install --upgrade transformers\`.`,
      }));
  },
});

interface LeastTransformers {
  readonly at: Setting;
  readonly least: string;
}

function needs(model: RuleModel): LeastTransformers[] {
  const trainer = trainerOf(model);
  const flag =
    model.flag("use_transformers_continuous_batching") === true
      ? model.written("use_transformers_continuous_batching")
      : undefined;
  return [
    ...(trainer?.has("tools") === true ? [{ at: trainer.setting("tools"), least: "5.0.0" }] : []),
    ...(trainer?.has("environment_factory") === true
      ? [{ at: trainer.setting("environment_factory"), least: "5.2.0" }]
      : []),
    ...(flag === undefined ? [] : [{ at: flag, least: "5.8.0" }]),
  ];
}
