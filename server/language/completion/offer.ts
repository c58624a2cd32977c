/** Something that may be written at a place: what it says, and what it takes along. */
import type { z } from "zod";

/** What a key's value looks like: what is opened for it. */
export type Opens = "map" | "list" | "value";

interface Said {
  readonly text: string;
  /** A few words next to it. */
  readonly detail?: string;
  /** Markdown, made when somebody looks at it. */
  readonly says?: () => string;
  /** Low first. */
  readonly rank?: number;
  /** Low first, among what has no rank. */
  readonly tier?: number;
  readonly preselect?: boolean;
  /** Something that papers describe and neither TRL nor verl ship, in a place where they have a choice. */
  readonly research?: boolean;
}

export interface KeyOffer extends Said {
  readonly kind: "key";
  readonly opens: Opens;
  readonly required: boolean;
}

/** With the parameters that it cannot do without; `use` is the key that names it. */
export interface MethodOffer extends Said {
  readonly kind: "method";
  readonly needs: Readonly<Record<string, z.ZodType>>;
  readonly use: "use" | "env";
}

interface WordOffer extends Said {
  readonly kind: "word" | "name" | "metric" | "preset" | "number" | "file" | "folder" | "export" | "field";
}

/** YAML in one line, with `${1:…}` places; `text` is the same without them. */
interface SnippetOffer extends Said {
  readonly kind: "snippet";
  readonly snippet: string;
}

export type Offer = KeyOffer | MethodOffer | WordOffer | SnippetOffer;

export const offerOf = (text: string, kind: "word" | "name" | "number", detail = ""): Offer => ({
  text,
  kind,
  detail,
});

/** Among offers of one place: what is shipped before research, and either exact before approximate. */
export const tierOf = (research: boolean, status: "exact" | "approximate" | "piece"): number =>
  (research ? 2 : 0) + (status === "exact" ? 0 : 1);
