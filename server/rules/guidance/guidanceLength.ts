import { helps } from "../../core/config/guidanceFacts.ts";
import { longestPrompt } from "../models/contextLength.ts";
import { tell, type Rule } from "../rule.ts";

/** Help in the prompt that leaves no room, whatever is in it. */
export const guidanceLength: Rule = {
  id: "guidance-length",
  title: "Help that fills the model's context",
  why: "A tiny model reads one character a token. The text around a hint (`template`) and the prompt stand in its context before the help itself, and what is left is for help and response. Where nothing is left no rollout can be helped: the run goes on without, and says so in every step.\n\nShorten the template, or enlarge `model.context`. How long a help is that comes out of a dataset, a file or a model is seen when it is there: such a rollout is left without help, with an event that names how many.",
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
      tell(model, view, guidanceLength, paths, {
        message: `The prompt (up to ${prompt} tokens) and the text around the help (${around}) fill the model's context of ${size.context}: no rollout can be helped. Shorten the template, or set \`model.context\` to at least ${whole}.`,
        mends: [
          model.edits.set(["model", "context"], String(whole), `Change \`model.context\` to ${whole}`, false),
        ],
      });
    }
  },
};
