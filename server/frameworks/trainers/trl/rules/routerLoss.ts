import { modelNameOf, refusedByTrainer } from "../python.ts";
import { diagnosticAt } from "../../../rules/placed.ts";
import { trlRule } from "../trlRule.ts";

/** Families without experts, by the names that their makers give them; `30B-A3B` has experts. */
const dense =
  /(^|\/)(Qwen2(\.5)?(-Math|-Coder)?-\d+(\.\d+)?B|Qwen3-\d+(\.\d+)?B(?!-A\d)|(Meta-)?Llama-[23]|gemma-[23]-|SmolLM[23]?-|Mistral-7B)/i;

export const routerLoss = trlRule({
  id: "trl-router-loss",
  trees: ["grpo", "rloo", "dpo", "kto"],
  title: "Router loss without experts",
  why: "`router_aux_loss_coef` weights the loss on how evenly a router spreads tokens over experts. Since TRL 1.14 the trainers (`GRPOTrainer.__init__` in trl/trainer/grpo_trainer.py and the others) refuse it for a model whose configuration has no router. Gradus recognises models by their names.",
  check(model) {
    const coefficient = model.number("router_aux_loss_coef");
    const name = modelNameOf(model);
    if (!model.since("1.14.0") || coefficient === undefined || coefficient === 0) return [];
    if (name === undefined || !dense.test(name) || model.written("router_aux_loss_coef") === undefined)
      return [];
    const message = `\`router_aux_loss_coef\` is ${coefficient}, but \`${name}\` has no experts to balance: TRL refuses it. Remove \`router_aux_loss_coef\`.`;
    return diagnosticAt(model, ["router_aux_loss_coef", "model_name_or_path"], message, {
      severity: refusedByTrainer(model),
    });
  },
});
