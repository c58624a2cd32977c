/** One scene, one picture: what a person does until a feature is on the page. */
import type { Editor } from "./editor.ts";

export interface Scene {
  readonly name: string;
  /** Of the window, where a picture is not as large as the others: it is kept with few colours then. */
  readonly size?: { readonly width: number; readonly height: number };
  /** What of the window is shown; otherwise all of it. */
  readonly part?: "editor" | "window";
  play(editor: Editor): Promise<void>;
}
