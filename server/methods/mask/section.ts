import { z } from "zod";
import { mask, param } from "../../core/declaration.ts";
import { sectionsIn } from "../../lib/textSpans.ts";
import { TokenReader, tokensOf } from "../../core/rows/tokenTexts.ts";
import { bySpans } from "./rows.ts";

export const section = mask({
  name: "section",
  aliases: ["thought", "action"],
  summary:
    "Trains what is inside a pair of tags, or outside it: thought or action, explanation or code. A section that is never closed extends to the end.",
  formula: "mask_t = [token t has a character of <tag>…</tag>]",
  sources: [
    "GTR: Guided Thought Reinforcement Prevents Thought Collapse in RL-based VLM Agent Training",
    "Training LLMs to Better Self-Debug and Explain Code",
    "PRefLexOR: Preference-based Recursive Language Modeling for Exploratory Optimization of Reasoning and Agentic Thinking",
  ],
  params: z.object({
    tag: param(z.string().min(1).default("think"), "Name of the tag: `<think>…</think>`."),
    open: param(z.string().min(1).optional(), "The opening text, if it is not that tag."),
    close: param(z.string().min(1).optional(), "The closing text, if it is not that tag."),
    keep: param(
      z.enum(["inside", "outside"]).default("inside"),
      "inside trains the section (the thought), outside the rest (the action).",
    ),
    tags: param(z.boolean().default(true), "Whether the tags themselves belong to the section."),
    begun: param(
      z.boolean().default(false),
      "The response begins inside the section, because the prompt has the opening tag.",
    ),
  }),
  create: ({ tag, open = `<${tag}>`, close = `</${tag}>`, keep, tags, begun }, { tokenizer }) => {
    const reader = new TokenReader(tokenizer, "mask section");
    return bySpans((batch, row) => {
      const texts = reader.row(batch, row);
      return sectionsIn(texts.text, { open, close, inside: begun, tags }).map(([from, to]) =>
        tokensOf(texts, from, to),
      );
    }, keep);
  },
});
