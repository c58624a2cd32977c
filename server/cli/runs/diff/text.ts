/** What training did to the weights, as text that fits 80 columns. Pure. */
import { formatCount, formatFraction, formatNumber, plural } from "../../../../shared/lib/format.ts";
import { maskNames, type MaskOverlaps } from "../../../analysis/weights/masks.ts";
import { tolerance } from "../../../analysis/weights/movement.ts";
import type { Overlap, Overlaps } from "../../../analysis/weights/overlap.ts";
import type { Summary } from "../../../analysis/weights/summary.ts";
import type { DiffReport } from "./report.ts";
import { colours } from "../../text/colours.ts";
import { tableLines } from "../../text/table.ts";
import { fixed, wrapped } from "../../text/terminal.ts";

const columns = (head: string) => [
  { head },
  ...["weights", "moved", "bf16", "change", "rank 99 %", "shift", "angle", "CKA"].map((name) => ({
    head: name,
    align: "right" as const,
  })),
];

const small = (value: number): string =>
  value !== 0 && value < 0.001 ? value.toExponential(1) : formatNumber(value);

/** 124.4 M. */
function countText(count: number): string {
  const [size, unit] = count >= 1e9 ? [count / 1e9, " G"] : count >= 1e6 ? [count / 1e6, " M"] : [count, ""];
  return unit === "" ? formatCount(count) : `${size.toFixed(1)}${unit}`;
}

function cells(name: string, { spectral, ...one }: Summary, cka: number | null | undefined): string[] {
  return [
    name,
    countText(one.parameters),
    formatFraction(one.moved, 1),
    formatFraction(one.visible, 1),
    one.change === null ? "–" : small(one.change),
    spectral === null ? "" : formatFraction(spectral.rank_99),
    spectral?.spectral_shift == null ? "" : small(spectral.spectral_shift),
    spectral?.largest_angle == null ? "" : `${spectral.largest_angle.toFixed(1)}°`,
    cka === undefined || cka === null ? "" : fixed(cka, 4),
  ];
}

const maskWords: Readonly<Record<(typeof maskNames)[number], string>> = {
  principal: "principal weights",
  low_magnitude: "smallest weights",
  largest_magnitude: "largest weights",
  principal_not_low: "principal, not among the smallest",
};

const maskLines = (masks: MaskOverlaps): string[] =>
  maskNames.flatMap((name) => {
    const { overlap, expected } = masks[name];
    return overlap === null
      ? []
      : [
          `  ${maskWords[name].padEnd(34)}  ${formatFraction(overlap, 1)}, by chance ${formatFraction(expected, 1)}`,
        ];
  });

function overlapLine(name: string, { jaccard, jaccard_expected: chance, of_a, of_b }: Overlap): string {
  if (jaccard === null) return `  ${name}: neither moved any`;
  const of = (share: number | null): string => formatFraction(share, 1);
  return `  ${name}: Jaccard ${fixed(jaccard)}, by chance ${fixed(chance ?? undefined)}; of A's ${of(of_a)} are B's, of B's ${of(of_b)} are A's`;
}

const overlapLines = ({ moved, visible }: Overlaps): string[] => [
  overlapLine("moved", moved),
  overlapLine("bf16", visible),
];

function leftOut({ left_out: left, settings: { side } }: DiffReport): string[] {
  if (left.length === 0) return [];
  const some = left.slice(0, 3).map(({ name, shape }) => `${name} (${shape.join(" × ")})`);
  const many = `${left.length} ${left.length === 1 ? "matrix" : "matrices"} larger than ${side} × ${8 * side}`;
  return [
    "",
    `Without singular values: ${many}: ${some.join(", ")}${left.length > 3 ? ", …" : ""}. \`--side ${2 * side}\` computes more.`,
  ];
}

function ckaLines({ cka }: DiffReport): string[] {
  if (cka === undefined) return [];
  const { texts, width, depths } = cka;
  const unbiased = depths.flatMap(({ cka_unbiased: value }) => value ?? []);
  const told =
    unbiased.length === 0 ? "" : `; estimated without bias it is ${fixed(Math.min(...unbiased), 4)} at least`;
  const few = texts > width ? "" : ` These are few for ${width} dimensions${told}.`;
  return ["", `CKA: linear, of the mean states of ${plural(texts, "text")}.${few}`];
}

const visiblyMoved = ({ total, settings: { top_k: k, alpha } }: DiffReport): string[] =>
  total.masks === null || total.masks.principal.overlap === null
    ? []
    : [
        "",
        `Of the weights that moved in bfloat16, so many are among the ${formatFraction(alpha)} of`,
        ...maskLines(total.masks),
        `  (principal: largest once only ${plural(k, "singular value")} ${k === 1 ? "is" : "are"} kept)`,
      ];

export function diffLines(found: DiffReport, width: number): string[] {
  const { a, b, total } = found;
  if (total.change === 0)
    return [wrapped(`${a.name} and ${b.name} have the same weights, bit by bit.`, width)];
  return changeLines(found).map((line) =>
    /^(layer|kind) /.test(line) ? colours.bold(line) : wrapped(line, width),
  );
}

function changeLines(found: DiffReport): string[] {
  const { a, b, base, total, layers, kinds, cka } = found;
  const depth = (layer: number | string): number | undefined =>
    layer === "embedding" ? 0 : typeof layer === "number" ? layer + 1 : undefined;
  const rows = layers.map(({ layer, ...one }) => {
    const at = depth(layer);
    return cells(String(layer), one, at === undefined ? undefined : cka?.depths[at]?.cka);
  });
  const byLayer = tableLines(columns("layer"), [...rows, cells("all", total, undefined)]);
  const byKind = tableLines(
    columns("kind"),
    kinds.map(({ kind, ...one }) => cells(kind, one, undefined)),
  );
  return [
    `From ${a.name} to ${b.name}${base === undefined ? "" : `; base ${base.name}`}`,
    `moved: |Δ| > ${tolerance.toExponential(0).replace("e-", "e−")}; bf16: another number once rounded to bfloat16; change: ‖Δ‖ / ‖weights‖; rank 99 %: share of the change's singular values that hold 99 % of it; shift: of the singular values; angle: the largest between leading subspaces`,
    "",
    ...byLayer,
    "",
    ...byKind,
    ...(total.overlap === undefined
      ? []
      : ["", "Weights that both changes from the base move", ...overlapLines(total.overlap)]),
    ...visiblyMoved(found),
    ...ckaLines(found),
    ...leftOut(found),
  ];
}
