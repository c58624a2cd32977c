/** In brackets: the parameters of the method, or of the function of one's own, that is being written. */
import { MarkupKind, type ParameterInformation, type SignatureHelp } from "vscode-languageserver";
import type { Position } from "../lib/lines.ts";
import type { MapNode } from "../config/text/node.ts";
import type { Declaration } from "../core/declaration.ts";
import type { Signature } from "../config/check/signatures/index.ts";
import { isRequired, isSchema } from "../config/check/values.ts";
import { functionAt, isArguments } from "./completion/arguments.ts";
import { defaultOf, summaryOf, takesText } from "./completion/keys.ts";
import { cursorAt } from "./tolerant/cursor.ts";
import { chosenMethod, spotAt } from "./spot.ts";

interface SignatureParameter {
  readonly name: string;
  readonly label: string;
  readonly says: string;
}

export function signatureHelpAt(
  text: string,
  position: Position,
  merged: MapNode | undefined,
  file: string,
): SignatureHelp | undefined {
  const cursor = cursorAt(text, position);
  if (cursor?.flow !== "{") return undefined;
  // Of a key the map it is in; of a value the map that has its key.
  const [owner, key] =
    cursor.writing === "key"
      ? [cursor.path, cursor.before]
      : [cursor.path.slice(0, -1), String(cursor.path.at(-1))];
  if (isArguments(owner)) {
    const found = functionAt({ cursor, merged, file }, owner.slice(0, -1));
    return found === undefined || found.args.length === 0
      ? undefined
      : help(
          found.name,
          found.args.map(({ name, type, usual, says }) => ({
            name,
            label: `${name}${type === undefined ? "" : `: ${type}`}${usual === undefined ? "" : ` = ${usual}`}`,
            says: says ?? "",
          })),
          found.doc,
          key,
        );
  }
  const spot = spotAt(owner, cursor.root, merged);
  const method = spot === undefined ? undefined : chosenMethod(spot);
  if (method === undefined) return undefined;
  const own = isOwnFunction(method) ? functionAt({ cursor, merged, file }, owner) : undefined;
  return methodHelp(method, own, key);
}

/** A function in a file of the user's: `use` says which, so that its file is no parameter. */
const isOwnFunction = ({ slot, name }: Declaration): boolean =>
  slot === "reward" && (name === "user" || name === "python");

function methodHelp(method: Declaration, own: Signature | undefined, key: string): SignatureHelp | undefined {
  const parts = Object.entries(method.params.shape).flatMap(([name, schema]): SignatureParameter[] =>
    isSchema(schema) && !(isOwnFunction(method) && (name === "file" || name === "export"))
      ? [
          {
            name,
            label: isRequired(schema) ? name : `${name}?`,
            says: [summaryOf(schema), ...takesText(schema, defaultOf(schema))].join(" ").trim(),
          },
        ]
      : [],
  );
  if (parts.length === 0) return undefined;
  if (own === undefined) return help(method.name, parts, method.formula ?? method.summary, key);
  return help(own.name, parts, [own.head, own.doc].filter((text) => text !== "").join("\n\n"), key);
}

function help(name: string, parts: readonly SignatureParameter[], says: string, key: string): SignatureHelp {
  const active = parts.findIndex((part) => part.name === key);
  const parameters = parts.map(({ label, says: text }): ParameterInformation => ({
    label,
    documentation: { kind: MarkupKind.Markdown, value: text },
  }));
  return {
    signatures: [
      {
        label: `${name} { ${parts.map(({ label }) => label).join(", ")} }`,
        documentation: { kind: MarkupKind.PlainText, value: says },
        parameters,
      },
    ],
    activeSignature: 0,
    // Beyond the last: none is marked.
    activeParameter: active < 0 ? parts.length : active,
  };
}
