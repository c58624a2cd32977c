/** Two servers on one file: a setting gives our configs to YAML, and a YAML extension answers for it. Said once. */
import {
  extensions,
  languages,
  window,
  workspace,
  type Disposable,
  type Memento,
  type TextDocument,
} from "vscode";
import { language } from "../../../shared/editor/contributions.ts";

const shownKey = "gradus.yamlClashTold";
const yamlExtension = "redhat.vscode-yaml";

export function watchForClash(memory: Memento): Disposable {
  const look = (document: TextDocument): void => {
    if (memory.get(shownKey) === true || !isClash(document)) return;
    void memory.update(shownKey, true).then(() => offer(document));
  };
  workspace.textDocuments.forEach(look);
  return workspace.onDidOpenTextDocument(look);
}

const isClash = ({ languageId, fileName }: TextDocument): boolean =>
  languageId === "yaml" &&
  /\.gradus\.ya?ml$/.test(fileName) &&
  extensions.getExtension(yamlExtension) !== undefined;

async function offer(document: TextDocument): Promise<void> {
  const change = "Use Gradus for This File";
  const chosen = await window.showInformationMessage(
    "The setting files.associations assigns *.gradus.yaml to YAML, so the YAML extension and Gradus both act on these files. Remove it to let Gradus handle them alone.",
    change,
  );
  if (chosen === change) await languages.setTextDocumentLanguage(document, language.id);
}
