/** What texts are compared by, as a config says it. */
import { z } from "zod";
import { param } from "../../../core/declaration.ts";
import { refers } from "../../../core/references.ts";
import type { Near } from "../../../core/slots/generation.ts";

export const measureParams = {
  by: param(
    z.enum(["letters", "embedding"]).default("letters"),
    "How texts are compared: by counts of three letters in a row, or by the final hidden states of a model of the run.",
  ),
  model: param(
    refers({ to: "model", also: ["policy", "reference"] }).default("policy"),
    "With `embedding`: `policy`, `reference` or a name in `models`.",
  ),
  pooling: param(
    z.enum(["last", "mean"]).default("last"),
    "With `embedding`: the state at the text's end, or the mean over all tokens.",
  ),
};

export const nearOf = ({
  by,
  model,
  pooling,
  temperature,
}: z.output<z.ZodObject<typeof measureParams>> & { readonly temperature: number }): Near => ({
  measure: by === "letters" ? { by } : { by, model, pooling },
  temperature,
});
