/** Looks of tokens, made once. The ends of a scale differ by more than colour. */
import { window, type DecorationRenderOptions, type TextEditorDecorationType } from "vscode";
import { bucketCount } from "./buckets.ts";

const make = (options: DecorationRenderOptions): TextEditorDecorationType =>
  window.createTextEditorDecorationType(options);

/** Told apart by everyone, and neither says wrong. As everywhere, what is above 0 is blue and what is below is orange. */
const orange = "217, 119, 6";
const blue = "37, 120, 220";
const middle = (bucketCount - 1) / 2;

/** @param strength from 0 to 1. A light page takes more colour before its text is hard to read. */
function filled(colour: string, strength: number): DecorationRenderOptions {
  const background = (most: number) => ({
    backgroundColor: `rgba(${colour}, ${(strength * most).toFixed(3)})`,
  });
  return { dark: background(0.5), light: background(0.6) };
}
const underlined = (colour: string, style: "solid" | "dotted"): DecorationRenderOptions => ({
  borderWidth: "0 0 2px 0",
  borderStyle: style,
  borderColor: `rgb(${colour})`,
});

function sequential(bucket: number): DecorationRenderOptions {
  const colour = filled(orange, bucket / (bucketCount - 1));
  return bucket === bucketCount - 1 ? { ...colour, ...underlined(orange, "solid") } : colour;
}
function diverging(bucket: number): DecorationRenderOptions {
  const colour = bucket < middle ? orange : blue;
  const fill = filled(colour, Math.abs(bucket - middle) / middle);
  if (bucket === 0) return { ...fill, ...underlined(colour, "dotted") };
  return bucket === bucketCount - 1 ? { ...fill, ...underlined(colour, "solid") } : fill;
}

/** Of terms that score parts of a response: by colour and by line. */
const termColours = ["charts.blue", "charts.purple", "charts.green", "charts.yellow"] as const;
const termLines = ["underline", "underline double", "underline dashed", "underline dotted"] as const;

/** @param style e.g. "underline dotted" */
const termStyle = (term: number): DecorationRenderOptions => ({
  textDecoration: `${termLines[term % termLines.length]} 2px; text-underline-offset: 3px; text-decoration-color: var(--vscode-${termColours[term % termColours.length]!.replace(".", "-")})`,
});

export class TokenStyles {
  readonly sequential = Array.from({ length: bucketCount }, (_, bucket) => make(sequential(bucket)));
  readonly signed = Array.from({ length: bucketCount }, (_, bucket) => make(diverging(bucket)));
  /** Everywhere in the document, for the ruler at its side. */
  readonly outlier = make({
    overviewRulerColor: `rgb(${orange})`,
  });
  readonly unused = {
    observed: make({ opacity: "0.65" }),
    given: make({ opacity: "0.75", textDecoration: "underline dotted" }),
    masked: make({ opacity: "0.75", textDecoration: "line-through" }),
  } as const;
  readonly terms = termLines.map((_, term) => make(termStyle(term)));

  get all(): readonly TextEditorDecorationType[] {
    return [...this.sequential, ...this.signed, this.outlier, ...Object.values(this.unused), ...this.terms];
  }
}
