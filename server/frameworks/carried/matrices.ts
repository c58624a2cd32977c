/** As transformers calls the matrices of a layer. */
import type { Target } from "../../core/blocks/models.ts";

export const matrices: Readonly<Record<Target, string>> = {
  q: "q_proj",
  k: "k_proj",
  v: "v_proj",
  o: "o_proj",
  gate: "gate_proj",
  up: "up_proj",
  down: "down_proj",
};
