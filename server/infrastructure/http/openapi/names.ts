/** `per_page` → `PerPage`: the style of component names. */
export function pascalCase(name: string): string {
  return name.replaceAll(/(?:^|[_-])(\w)/g, (_, letter: string) => letter.toUpperCase());
}
