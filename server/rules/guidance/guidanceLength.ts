import { helps } from "../../core/config/guidanceFacts.ts";
import { longestPrompt } from "../models/contextLength.ts";
import { reportAt, type Rule } from "../rule.ts";

/** Help in the prompt that leaves no room, whatever is in it. */
export const guidanceLength: Rule = {
  id: "guidance-length",
  title: "Help that fills the model's context",
  why: "A tiny model reads one character per token. The prompt and the text around a hint (`template`) come before the help in its context, and the rest is for the help and the response. If nothing is left, no rollout can be helped: the run continues without help and says so at every step.\n\nShorten the template, or enlarge `model.context`. The length of help from a dataset, a file or a model is known only during the run: rollouts whose help does not fit go without it, and an event says how many.",
  check(model) {
    const { size, base, tokenizer } = model.config.model;
    if (base !== "tiny" || tokenizer?.use === "bpe") return;
    for (const view of model.stages) {
      const { guidance, tasks } = view.config.body;
      const { template, text } = guidance.source.params;
      if (view.config.kind !== "rl" || !helps(guidance) || typeof template !== "string") continue;
      if (guidance.source.params["place"] === "response") continue;
      const prompt = Math.max(0, ...tasks.map(longestPrompt));
      const around = template.replace(/\{\w+\}/g, "").length + (typeof text === "string" ? text.length : 0);
      if (prompt + around < size.context) continue;
      const paths = [
        ["guidance", "source", typeof text === "string" ? "text" : "template"],
        ["guidance", "source"],
        ["guidance"],
      ];
      const whole = prompt + around + view.config.body.rollout.max_tokens;
      reportAt(model, view, guidanceLength, paths, {
        message: `The prompt (up to ${prompt} tokens) and the text around the help (${around}) fill the model's context of ${size.context}: no rollout can be helped. Shorten the template, or set \`model.context\` to at least ${whole}.`,
        fileFixes: [
          model.edits.set(["model", "context"], String(whole), `Change \`model.context\` to ${whole}`, false),
        ],
      });
    }
  },
};
