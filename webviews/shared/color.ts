/** Colours as `getComputedStyle` answers them: `rgb(…)`, `rgba(…)` or `color(srgb …)`. Pure. */

type Channels = readonly [number, number, number];

function channels(color: string): Channels | undefined {
  const mixed = /^color\(srgb ([^/)]+)/.exec(color)?.[1]?.trim().split(/\s+/);
  const parts =
    mixed?.map((part) => Number(part) * 255) ??
    /^rgba?\(([^)]+)\)$/
      .exec(color)?.[1]
      ?.split(/[\s,/]+/)
      .map(Number);
  const [r, g, b] = parts ?? [];
  return r === undefined || g === undefined || b === undefined ? undefined : [r, g, b];
}

/** The colour at another opacity. */
export function withAlpha(color: string, alpha: number): string {
  const parts = channels(color);
  return parts === undefined ? color : `rgba(${parts.map(Math.round).join(", ")}, ${alpha})`;
}

/** Contrast ratio of WCAG 2, 1 to 21. */
export function contrast(one: string, other: string): number {
  const luminance = (color: string): number => {
    const linear = (channels(color) ?? [0, 0, 0]).map((value) =>
      value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4,
    );
    return 0.2126 * linear[0]! + 0.7152 * linear[1]! + 0.0722 * linear[2]!;
  };
  const [a, b] = [luminance(one), luminance(other)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

/** WCAG's least contrast for what is drawn rather than written. */
const least = 3;

/** The colour, moved towards the foreground until it contrasts with the background: some themes' chart colours don't. */
export function readable(color: string, background: string, foreground: string): string {
  const [from, to] = [channels(color), channels(foreground)];
  if (from === undefined || to === undefined) return color;
  for (let share = 0; share <= 1; share += 0.1) {
    const mixed = `rgb(${from.map((value, i) => Math.round(value + (to[i]! - value) * share)).join(", ")})`;
    if (contrast(mixed, background) >= least) return mixed;
  }
  return foreground;
}
