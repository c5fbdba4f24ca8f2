package mcap

// placed is where a record is in the file.
type placed struct {
	at, length int64
}

// A placedAttachment is an Attachment record in the file.
type placedAttachment struct {
	placed
	attachment
	data int64 // where its data begins
}
