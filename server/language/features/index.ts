import type { Feature } from "../feature.ts";
import { completion, fixes } from "./editing.ts";
import { definition, highlights, links, references, rename } from "./navigation.ts";
import { evidence } from "./evidence.ts";
import { formatting } from "./formatting.ts";
import { hints } from "./hints.ts";
import { lenses } from "./lenses.ts";
import { hover, signatures } from "./reading.ts";
import { selection } from "./selection.ts";
import { folding, symbols } from "./structure.ts";
import { tokens } from "./tokens.ts";
import { workspaceSymbols } from "./workspaceSymbols.ts";

export const features: readonly Feature[] = [
  completion,
  fixes,
  hover,
  hints,
  lenses,
  symbols,
  folding,
  definition,
  references,
  highlights,
  rename,
  links,
  evidence,
  tokens,
  selection,
  workspaceSymbols,
  formatting,
  signatures,
];
