package extras

import (
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxName is how long a name of a file becomes, in bytes, and maxEnding its ending.
const (
	maxName   = 120
	maxEnding = 16
)

// reserved are names of devices on Windows, whatever their ending.
var reserved = regexp.MustCompile(`(?i)^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)`)

// FileName returns the name of a file for something that a recording calls name. It
// never leads out of a folder, is not a hidden file, and every file system takes it: what
// is before a separator goes, and what cannot stand there becomes "_". If nothing is left
// of a name, the file is called other.
func FileName(name, other string) string {
	if i := strings.LastIndexAny(name, `/\`); i >= 0 {
		name = name[i+1:]
	}
	name = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) || strings.ContainsRune(`<>:"|?*`, r) {
			return '_'
		}
		return r
	}, name)
	if rest := strings.TrimLeft(name, "."); rest != name { // "..", hidden files
		name = strings.Repeat("_", min(len(name)-len(rest), 1)) + rest
	}
	name = strings.TrimRight(name, ". ")
	if reserved.MatchString(name) {
		name = "_" + name
	}
	if strings.Trim(name, "_") == "" {
		name = other
	}
	ext := filepath.Ext(name)
	if len(ext) > maxEnding {
		ext = ""
	}
	stem := strings.TrimSuffix(name, ext)
	if most := maxName - len(ext); len(stem) > most {
		stem = strings.ToValidUTF8(stem[:most], "")
	}
	return stem + ext
}

// names keeps names of files apart, also if upper and lower case are one.
type names map[string]bool

// take returns a name that was not taken yet: name, or name_2, name_3 and so on before
// its ending.
func (n names) take(name string) string {
	ext := filepath.Ext(name)
	stem := strings.TrimSuffix(name, ext)
	for i := 2; n[strings.ToLower(name)]; i++ {
		name = stem + "_" + strconv.Itoa(i) + ext
	}
	n[strings.ToLower(name)] = true
	return name
}
