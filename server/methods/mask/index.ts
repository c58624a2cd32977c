import type { Declaration } from "../../core/declaration.ts";
import { errors } from "./errors.ts";
import { errorSpan } from "./errorSpan.ts";
import { executedLines } from "./executedLines.ts";
import { given } from "./given.ts";
import { offPolicySequence } from "./offPolicySequence.ts";
import { overlong } from "./overlong.ts";
import { rejected } from "./rejected.ts";
import { rollIn } from "./rollIn.ts";
import { section } from "./section.ts";
import { sources } from "./sources.ts";
import { spans } from "./spans.ts";
import { stale } from "./stale.ts";
import { topEntropy } from "./topEntropy.ts";
import { turns } from "./turns.ts";
import { written } from "./written.ts";

export const masks: readonly Declaration<"mask">[] = [
  written,
  given,
  section,
  turns,
  executedLines,
  errorSpan,
  spans,
  rollIn,
  rejected,
  overlong,
  errors,
  sources,
  stale,
  topEntropy,
  offPolicySequence,
];
