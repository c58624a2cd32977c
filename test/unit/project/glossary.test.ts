/** Texts that a person reads use the words of docs/glossary.md. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import ts from "typescript";

/** Words of a private idiom, each with what to say in its place. */
const avoided: Readonly<Record<string, string>> = {
  anew: "again",
  behind: "after, conditioned on, or the thing itself",
  beside: "next to, with, or besides",
  foretells: "predicts",
  mend: "fix",
  mends: "fixes",
  mended: "fixed",
  nobody: "the passive, or the subject itself",
  nought: "zero",
  paid: "scored, or rewarded",
  pays: "scores, or rewards",
  stands: "is",
  told: "given, reported, or known",
};

/** Words to a model, which published configs hold: a change would change the numbers of their runs. */
const prompts = ["Write this problem anew", "There may be an error above. Mend it"];

interface Text {
  readonly place: string;
  readonly text: string;
}

const sourcesOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => join(folder, name));

/** String literals and the literal parts of templates, a template as one text with `…` for its holes. */
function textsOf(file: string): Text[] {
  const source = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest, true);
  const found: Text[] = [];
  const add = (node: ts.Node, text: string) => {
    const { line } = source.getLineAndCharacterOfPosition(node.getStart(source));
    if (/\S \S/.test(text)) found.push({ place: `${file}:${line + 1}`, text });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) add(node, node.text);
    if (ts.isTemplateExpression(node))
      add(node, [node.head.text, ...node.templateSpans.map((span) => `…${span.literal.text}`)].join(""));
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** The text without what it quotes: code in backticks and words in quotation marks. */
const ownWords = (text: string): string =>
  text
    .replace(/`[^`]*`/g, " ")
    .replace(/"[^"]*"/g, " ")
    .replace(/“[^”]*”/g, " ");

const offences = (text: Text): string[] =>
  prompts.some((prompt) => text.text.includes(prompt)) ? [] : avoidedIn(text);

const avoidedIn = ({ place, text }: Text): string[] =>
  (
    ownWords(text)
      .toLowerCase()
      .match(/\p{L}+/gu) ?? []
  )
    .filter((word) => Object.hasOwn(avoided, word))
    .map((word) => `${place}: "${word}": say ${avoided[word]}. In: ${text.slice(0, 160)}`);

describe("the words of the glossary", () => {
  for (const folder of ["server", "shared", "extension", "webviews"])
    it(`are those of the texts in ${folder}/`, () => {
      const found = sourcesOf(folder).flatMap(textsOf).flatMap(offences);
      assert.deepEqual(found, [], `${found.length} texts use words that docs/glossary.md replaces`);
    });

  it("are those of the manifest's texts", () => {
    const texts = Object.entries(
      JSON.parse(readFileSync("package.nls.json", "utf8")) as Record<string, string>,
    );
    assert.deepEqual(
      texts.flatMap(([key, text]) => offences({ place: `package.nls.json: ${key}`, text })),
      [],
    );
  });

  it("sees a word outside quotation, and none within", () => {
    assert.equal(offences({ place: "a", text: "The reward is paid anew." }).length, 2);
    assert.deepEqual(offences({ place: "a", text: 'The key `paid` and the word "anew".' }), []);
  });
});
