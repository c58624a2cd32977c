/** One scene, one picture: what a person does until a feature is on the page. */
import type { Editor } from "./editor.ts";

export interface Scene {
  readonly name: string;
  play(editor: Editor): Promise<void>;
}
