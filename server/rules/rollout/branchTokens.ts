import { branches } from "../../core/config/branchFacts.ts";
import { pathIn, placeOf, reportAt, type Rule } from "../rule.ts";

export const branchTokens: Rule = {
  id: "branch-tokens",
  title: "Responses without a token to branch at",
  why: "A branch leaves before a token after the first, one of at least `rollout.branch.min_characters` characters. A response of one token has no such token. A tiny model that reads character by character has no tokens of two characters, which is the minimum for other models. Every branch would then begin where its task does, and the group would be a plain one generated in two passes.\n\nAllow longer responses; leave `min_characters` out, or give the model a vocabulary (`model.tokenizer: { use: bpe }`).",
  check(model) {
    const { base, tokenizer } = model.config.model;
    const characters = base === "tiny" && tokenizer?.use !== "bpe";
    for (const view of model.stages) {
      const { rollout } = view.config.body;
      if (view.config.kind !== "rl" || !branches(rollout)) continue;
      const least = rollout.branch.params["min_characters"];
      if (characters && typeof least === "number" && least > 1) {
        const at = placeOf(view.body, "rollout", "branch", "min_characters");
        const path = pathIn(view, at, "rollout", "branch", "min_characters");
        reportAt(model, view, branchTokens, [["rollout", "branch", "min_characters"]], {
          severity: "error",
          message: `This model reads one character per token, but branches leave before tokens of at least ${least} characters, so there are no branches: lower \`rollout.branch.min_characters\`, or give the model a vocabulary.`,
          fileFixes: [
            model.edits.remove(path, "Remove `min_characters`: tokens of one character then count"),
            model.edits.set(["model", "tokenizer"], "{ use: bpe }", "Give the model a vocabulary", false),
          ],
        });
      }
      if (rollout.max_tokens > 1) continue;
      reportAt(
        model,
        view,
        branchTokens,
        [
          ["rollout", "max_tokens"],
          ["rollout", "branch"],
        ],
        {
          severity: "error",
          message:
            "With `rollout.max_tokens: 1` no response has a second token for a branch to leave before: allow longer responses.",
        },
      );
    }
  },
};
