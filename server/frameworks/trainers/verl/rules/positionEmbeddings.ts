import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { changed } from "../fixes.ts";
import { found, policy, rollout, shortName, size, verlRule } from "../rule.ts";
import { treeOnDisk } from "../../../readers/base.ts";
import { isObject } from "../../../text/values.ts";
import type { RuleModel } from "../../../rules/rule.ts";

const [context, path] = [`${rollout}.max_model_len`, `${policy}.path`];

/** `max_position_embeddings` of a model on this machine. */
function positions(model: RuleModel): number | undefined {
  const folder = model.text(path);
  if (folder === undefined || !/^[~./\\]/.test(folder)) return undefined;
  const place = resolve(dirname(model.document.file), folder.replace(/^~(?=\/)/, homedir()));
  const config = treeOnDisk(join(place, "config.json"));
  if (!isObject(config)) return undefined;
  const text = isObject(config["text_config"]) ? config["text_config"] : config;
  const found = text["max_position_embeddings"];
  return typeof found === "number" ? found : undefined;
}

export const positionEmbeddings = verlRule({
  id: "verl-position-embeddings",
  title: "Context longer than the model's positions",
  why: "The servers of vLLM and SGLang (verl/workers/rollout/vllm_rollout/vllm_async_server.py, sglang_rollout/async_sglang_server.py) refuse a `max_model_len` above the model's `max_position_embeddings`. Gradus checks models in a folder on this machine.",
  since: "0.7.0",
  check(model) {
    const wanted = size(model, context);
    const known = wanted === undefined ? undefined : positions(model);
    if (wanted === undefined || known === undefined || wanted <= known) return [];
    const message = `\`${shortName(context)}\` ${wanted} is more than the ${known} positions of the model (its config.json): the engine does not start.`;
    return found(model, [context, path], message, { fixes: [changed(model, context, known)] });
  },
});
