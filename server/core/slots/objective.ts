/** What objectives and the terms that learn by them share. */
import { z } from "zod";
import { param } from "../declaration.ts";
import { refers } from "../references.ts";

const pairingKind = z.enum(["auto", "recorded", "best_worst", "all"]);

export type Pairing = z.output<typeof pairingKind>;

export const pairing = (usual: Pairing = "auto") =>
  param(
    pairingKind.default(usual),
    "Which rollouts are compared. recorded: those that carry the same `pair`; best_worst: of each group, the first of the highest and the last of the lowest reward; all: every two of a group; auto: recorded where the batch has pairs, else best_worst.",
  );

export const headParam = (usual: string) =>
  param(refers({ to: "head" }).min(1).default(usual), "Name of the head in `model.value_heads`.");
