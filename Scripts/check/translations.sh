#!/usr/bin/env bash
# The gallery's translations: compiled and complete.
# Collects the texts of the gallery in Translations/vitrine-gallery.pot, and compiles each Translations/LANGUAGE.po. A
# language that lacks a text shows it in English, and is a fault here.
source "$(dirname "$0")/../lib/common.sh"
setup
folder=Sources/Gallery/Translations
output=.build/locale
# gettext knows no Swift; its texts look like those of C.
xgettext --language=C --from-code=UTF-8 --keyword=translated:1 --keyword=translated:1,2 --add-comments=Translators \
  --package-name=vitrine-gallery --sort-by-file --no-location -o "$folder/vitrine-gallery.pot" \
  Sources/Gallery/Views/*.swift Sources/Gallery/Program/*.swift 2>/dev/null
sed -i '/POT-Creation-Date/d' "$folder/vitrine-gallery.pot"
missing=0
for file in "$folder"/*.po; do
  language=$(basename "$file" .po)
  mkdir -p "$output/$language/LC_MESSAGES"
  msgfmt --check -o "$output/$language/LC_MESSAGES/vitrine-gallery.mo" "$file"
  lacking=$(msgcmp --use-untranslated "$file" "$folder/vitrine-gallery.pot" 2>&1 | grep -c "not defined\|not translated" || true)
  echo "$language: $(msgfmt --statistics -o /dev/null "$file" 2>&1), $lacking lacking"
  [ "$lacking" -eq 0 ] || missing=1
done
exit $missing
