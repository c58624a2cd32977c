import type { ChartLine } from "./chartModel.ts";
import { dashes, type Theme } from "./theme.ts";
import { toneColor } from "./toneColor.ts";

/** A piece of the line as it is drawn, so that the legend can be read without colour. */
export function swatch(line: Pick<ChartLine, "tone" | "dash" | "style">, theme: Theme): SVGSVGElement {
  const make = (name: string, attributes: Readonly<Record<string, string>>): SVGElement => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  };
  const color = toneColor(line, theme);
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  for (const [key, value] of Object.entries({ width: "22", height: "10", "aria-hidden": "true" }))
    svg.setAttribute(key, value);
  if (line.style === "area")
    svg.append(
      make("rect", { x: "0", y: "1", width: "22", height: "9", fill: color, "fill-opacity": "0.28" }),
    );
  if (line.style === "hatch")
    svg.append(
      make("path", {
        d: "M-6 10l10-10M0 10l10-10M6 10l10-10M12 10l10-10",
        stroke: color,
        "stroke-opacity": "0.7",
      }),
    );
  const y = line.style === "area" || line.style === "hatch" ? "1" : "5";
  const dash = dashes[line.dash % dashes.length]!.join(" ");
  svg.append(
    make("line", {
      x1: "0",
      x2: "22",
      y1: y,
      y2: y,
      stroke: color,
      "stroke-width": "2",
      ...(dash === "" ? {} : { "stroke-dasharray": dash }),
    }),
  );
  if (line.style === "points")
    svg.append(
      make("circle", {
        cx: "11",
        cy: "5",
        r: "3",
        fill: theme.background,
        stroke: color,
        "stroke-width": "2",
      }),
    );
  return svg;
}
