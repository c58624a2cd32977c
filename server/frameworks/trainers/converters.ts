/** What `gradus convert` reads. */
import type { Converter, ConvertedFrom } from "../lens/types.ts";
import { openRlhfConverter } from "./openrlhf/lens/converter.ts";
import { primeRlConverter } from "./primeRl/lens/converter.ts";
import { skyrlConverter } from "./skyrl/lens/converter.ts";
import { trlConverter } from "./trl/lens/converter.ts";
import { verlConverter } from "./verl/lens/converter.ts";

export const converters: Readonly<Record<ConvertedFrom, Converter>> = {
  trl: trlConverter,
  verl: verlConverter,
  openrlhf: openRlhfConverter,
  skyrl: skyrlConverter,
  "prime-rl": primeRlConverter,
};
