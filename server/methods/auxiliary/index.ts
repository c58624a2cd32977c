import type { Declaration } from "../../core/declaration.ts";
import { author } from "./author.ts";
import { corrections } from "./corrections.ts";
import { learner } from "./learner.ts";
import { mixing } from "./mixing.ts";
import { nextToken } from "./nextToken.ts";
import { privacy } from "./privacy.ts";
import { recap } from "./recap.ts";
import { sft } from "./sft.ts";

export const auxiliaries: readonly Declaration<"auxiliary">[] = [
  sft,
  corrections,
  nextToken,
  learner,
  author,
  recap,
  privacy,
  mixing,
];
