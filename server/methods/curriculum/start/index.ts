import type { Declaration } from "../../../core/declaration.ts";
import { branch } from "./branch.ts";
import { guide } from "./guide.ts";
import { midEpisode } from "./midEpisode.ts";
import { prompt } from "./prompt.ts";
import { reverse } from "./reverse.ts";

export const starts: readonly Declaration<"start">[] = [prompt, reverse, guide, branch, midEpisode];
