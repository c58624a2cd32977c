import { z } from "zod";
import { scale } from "../../../core/declaration.ts";

export const noScale = scale({
  name: "none",
  summary: "Centred rewards as they are.",
  formula: "A = A",
  sources: ["Understanding R1-Zero-Like Training: A Critical Perspective"],
  params: z.object({}),
  create: () => (centred) => centred,
});
