import type { Declaration } from "../config/declaration.ts";
import { nextToken } from "./nextToken.ts";
import { privacy } from "./privacy.ts";
import { recap } from "./recap.ts";
import { sft } from "./sft.ts";

export const auxiliaries: readonly Declaration<"auxiliary">[] = [sft, nextToken, recap, privacy];
