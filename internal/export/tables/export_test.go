package tables

// SetPages sets how many bytes a page of Parquet has, and how many values always have a dictionary.
func SetPages(t Table, bytes, fewest int) {
	if p, ok := t.(*parquet); ok {
		p.pageBytes, p.fewest = bytes, fewest
	}
}

// ConstantsText is what the metadata has of constants.
var ConstantsText = constantsText
