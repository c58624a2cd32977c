import type { Declaration } from "../../config/declaration.ts";
import { attempts } from "./attempts.ts";
import { selfCorrect } from "./selfCorrect.ts";
import { single } from "./single.ts";

export const episodeShapes: readonly Declaration<"episode_shape">[] = [single, attempts, selfCorrect];
