import { listed } from "../../../../../lib/suggest.ts";
import { found, shortName, verlRule } from "../../rule.ts";
import { rewardFunction } from "../../reward.ts";
import { rowsOf } from "../../dataset.ts";
import { isObject } from "../../../../text/values.ts";
import type { JsonObject } from "../../../../../../shared/lib/json.ts";
import type { RuleDiagnostic, RuleModel } from "../../../../rules/rule.ts";

const [files, prompt] = ["data.train_files", "data.prompt_key"];

/** What `default_compute_score` has a reward for, in addition to names that begin with `aime`. */
const sources = [
  ...["openai/gsm8k", "lighteval/MATH", "DigitalLearningGmbH/MATH-lighteval", "HuggingFaceH4/MATH-500"],
  ...[
    "math_dapo",
    "math",
    "math_dapo_reasoning",
    "numina_aops_forum",
    "numina_synthetic_math",
    "numina_amc_aime",
  ],
  ...[
    "numina_synthetic_amc",
    "numina_cn_k12",
    "numina_olympiads",
    "codecontests",
    "apps",
    "codeforces",
    "taco",
  ],
  ...["hiyouga/geometry3k", "searchR1_nq", "searchR1_triviaqa", "searchR1_popqa", "searchR1_hotpotqa"],
  ...["searchR1_2wikimultihopqa", "searchR1_musique", "searchR1_bamboogle"],
];

function missing(model: RuleModel, row: JsonObject): RuleDiagnostic[] {
  const column = model.text(prompt) ?? "prompt";
  const answer = isObject(row["reward_model"]) && "ground_truth" in row["reward_model"];
  const absent = [
    ...(column in row ? [] : [column]),
    ...("data_source" in row ? [] : ["data_source"]),
    ...(answer ? [] : ["reward_model.ground_truth"]),
  ];
  if (absent.length === 0) return [];
  const message = `A row of \`${shortName(files)}\` has no ${listed(absent)}. Its columns: ${Object.keys(row).slice(0, 8).join(", ")}.`;
  return found(model, absent.includes(column) ? [prompt, files] : [files], message);
}

/** Only verl's own reward reads the source of a prompt. */
function unknownSource(model: RuleModel, rows: readonly JsonObject[]): RuleDiagnostic[] {
  if (
    rewardFunction(model) !== undefined ||
    model.flag("reward.reward_model.enable") === true ||
    model.text("reward.reward_manager.source") === "importlib"
  )
    return [];
  const strange = new Set(
    rows
      .map((row) => row["data_source"])
      .filter(
        (name) =>
          typeof name === "string" && name !== "" && !sources.includes(name) && !name.startsWith("aime"),
      ),
  );
  if (strange.size === 0) return [];
  const message = `verl has no reward for \`data_source\` ${listed([...strange].map(String), 4)}, and you set no reward function: set \`reward.custom_reward_function.path\`.`;
  return found(model, [files], message);
}

export const dataColumns = verlRule({
  id: "verl-data-columns",
  title: "Missing data columns",
  why: "`RLHFDataset` (verl/utils/dataset/rl_dataset.py) reads the column `data.prompt_key`; a reward manager reads `data_source` and `reward_model.ground_truth` (`run_single` of verl/experimental/reward_loop/reward_manager/naive.py). Without a reward function of your own, `default_compute_score` (verl/utils/reward_score/__init__.py) raises for a `data_source` that it does not know, after the first generation. Gradus checks data in JSON lines or Parquet on this machine.",
  check(model) {
    const rows = rowsOf(model)?.rows ?? [];
    const [first] = rows;
    if (first === undefined) return [];
    const absent = missing(model, first);
    return absent.length > 0 ? absent : unknownSource(model, rows);
  },
});
