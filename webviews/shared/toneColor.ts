import type { ChartLine } from "./chartModel.ts";
import type { Theme } from "./theme.ts";

export const toneColor = (line: ChartLine, theme: Theme): string =>
  typeof line.tone === "number" ? theme.palette[line.tone % theme.palette.length]! : theme[line.tone];
