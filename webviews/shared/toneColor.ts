import type { ChartLine } from "./chartModel.ts";
import type { Theme } from "./theme.ts";

export const toneColor = ({ tone }: Pick<ChartLine, "tone">, theme: Theme): string =>
  typeof tone === "number" ? theme.palette[tone % theme.palette.length]! : theme[tone];
