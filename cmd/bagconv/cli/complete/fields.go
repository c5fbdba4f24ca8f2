package complete

import (
	"context"
	"strings"
	"unicode"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
)

// fieldCandidates adds topics, or behind a topic and a point its fields. Of an expression the last word counts.
func (a *Asker) fieldCandidates(ctx context.Context, l *flags.Line, f *flags.Flag, found candidates) candidates {
	if f.Name != "" {
		at := lastWord(found.typed)
		found.head, found.typed = found.head+found.typed[:at], found.typed[at:]
		found.noSpace = true
	}
	paths := recordings(l, f)
	found.words, _ = a.names(ctx, paths)
	topic := ""
	for _, t := range found.words {
		if strings.HasPrefix(found.typed, t.Value+".") && len(t.Value) > len(topic) {
			topic = t.Value
		}
	}
	if topic == "" {
		return found
	}
	path := found.typed[len(topic)+1:]
	within := path[:strings.LastIndexByte(path, '.')+1]
	fields := inTime(ctx, func(ctx context.Context) (list []flags.Word) {
		for i := 0; i < len(paths) && list == nil; i++ {
			list = a.Fields(ctx, expandHome(paths[i]), topic, strings.TrimSuffix(within, "."))
		}
		return list
	})
	found.words, found.noSpace = nil, true
	for _, w := range fields {
		found.words = append(found.words, flags.Word{Value: topic + "." + within + w.Value, About: w.About})
	}
	return found
}

// lastWord returns where the last name of a topic or a field in an expression begins.
func lastWord(text string) int {
	end := strings.LastIndexFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_/.[]", r)
	})
	if end < 0 {
		return 0
	}
	for at := range text[end:] {
		if at > 0 {
			return end + at
		}
	}
	return len(text)
}
