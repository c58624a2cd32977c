import { readable, withAlpha } from "./color.ts";

/** Colours and fonts of the editor's theme as the canvas needs them, read again when the theme changes. */

type ThemeKind = "light" | "dark" | "high-contrast" | "high-contrast-light";

export interface Theme {
  readonly kind: ThemeKind;
  readonly foreground: string;
  readonly muted: string;
  readonly background: string;
  readonly grid: string;
  readonly focus: string;
  /** In the order in which series take them. */
  readonly palette: readonly string[];
  readonly good: string;
  readonly bad: string;
  readonly neutral: string;
  /** The colour of text. */
  readonly plain: string;
  /** Of what is drawn for comparison only. */
  readonly faint: string;
  readonly font: string;
  readonly reducedMotion: boolean;
  /** Strokes in CSS pixels: thicker where contrast is asked for. */
  readonly stroke: number;
}

/** The class that the editor puts on the body; under high contrast it does not also put `vscode-dark`. */
export function themeKind(classes: Iterable<string>): ThemeKind {
  const names = new Set(classes);
  if (names.has("vscode-high-contrast-light")) return "high-contrast-light";
  if (names.has("vscode-high-contrast")) return "high-contrast";
  return names.has("vscode-light") ? "light" : "dark";
}

const isHigh = (kind: ThemeKind): boolean => kind === "high-contrast" || kind === "high-contrast-light";

/**
 * Resolves through an element of the page, because a variable may itself be `color-mix(…)` or absent, and a canvas
 * takes neither.
 */
function reader(): (expression: string) => string {
  const probe = document.createElement("span");
  probe.hidden = true;
  document.body.append(probe);
  return (expression) => {
    probe.style.color = expression;
    const { color } = getComputedStyle(probe);
    return color;
  };
}

let probe: ((expression: string) => string) | undefined;

export function readTheme(): Theme {
  probe ??= reader();
  const read = probe;
  const style = getComputedStyle(document.body);
  const kind = themeKind(document.body.classList);
  const high = isHigh(kind);
  const foreground = read("var(--vscode-editor-foreground, var(--vscode-foreground))");
  const background = read("var(--vscode-editor-background)");
  const chart = (name: string): string =>
    readable(read(`var(--vscode-charts-${name})`), background, foreground);
  const orange = readable(read("var(--orange)"), background, foreground);
  return {
    kind,
    foreground,
    muted: high ? foreground : read("var(--vscode-descriptionForeground)"),
    background,
    grid: read(
      high ? "var(--vscode-contrastBorder)" : "var(--vscode-charts-lines, var(--vscode-panel-border))",
    ),
    focus: read("var(--vscode-focusBorder)"),
    // Without red: it means wrong answers and errors, and nothing else.
    palette: [chart("blue"), orange, ...["purple", "green", "yellow"].map(chart), foreground],
    good: chart("green"),
    bad: chart("red"),
    neutral: chart("blue"),
    plain: foreground,
    faint: withAlpha(foreground, 0.2),
    font: `11px ${style.fontFamily}`,
    reducedMotion:
      document.body.classList.contains("vscode-reduce-motion") ||
      matchMedia("(prefers-reduced-motion: reduce)").matches,
    stroke: high ? 2.25 : 1.75,
  };
}

/** Calls back when the person changes the theme, its contrast or the reduction of motion. */
export function onThemeChange(changed: () => void): void {
  const observer = new MutationObserver(changed);
  observer.observe(document.body, { attributes: true, attributeFilter: ["class", "data-vscode-theme-id"] });
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ["style"] });
  matchMedia("(prefers-reduced-motion: reduce)").addEventListener("change", changed);
}

/** So that colour is never the only channel. */
export const dashes: readonly (readonly number[])[] = [
  [],
  [6, 4],
  [2, 3],
  [9, 3, 2, 3],
  [12, 4],
  [4, 2, 1, 2, 1, 2],
];
